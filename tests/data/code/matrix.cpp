#include <vector>

namespace math {

/// A dense matrix.
template <typename T>
class Matrix : public Base {
public:
    explicit Matrix(int rows) : rows_(rows) {}

    T at(int row, int column) const {
        return data_[row * rows_ + column];
    }

private:
    std::vector<T> data_;
    int rows_;
};

template <typename T>
T trace(const Matrix<T>& matrix)
{
    T sum = 0;
    for (int i = 0; i < 3; ++i) {
        sum += matrix.at(i, i);
    }
    return sum;
}

}  // namespace math

int math::Solver::run() {
    return 0;
}
